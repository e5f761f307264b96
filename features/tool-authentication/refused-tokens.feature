@needs-mcp-auth
Feature: A refused token leaves the call blocked
  A mistyped or outdated token is an everyday event. It must be said to whoever pushed it, and it must neither free
  the call nor use the challenge up.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked

  @AHP-TOOLAUTH-032 @must
  Scenario: A token that the resource refuses is refused by the host
    When a token that "vault" refuses is pushed
    Then the push is refused with an error

  @AHP-TOOLAUTH-072 @should
  Scenario: A refused token does not resume the call
    When a token that "vault" refuses is pushed
    Then the call has not been resumed
    And the call is auth-required, still or again

  @AHP-TOOLAUTH-073 @must
  Scenario: A good token helps after a refused one
    When a token that "vault" refuses is pushed, and then a good one
    Then the call completes with what the server answers

  @AHP-TOOLAUTH-033 @must
  Scenario: A token for a resource that nobody advertised is refused and frees nothing
    When a token for a resource that nobody advertised is pushed
    Then the push is refused with an error
    And the call is still auth-required

  @AHP-TOOLAUTH-031 @must
  Scenario: Without a token the call stays blocked up to the end of its turn
    When the client cancels the turn
    Then the call was never resumed
