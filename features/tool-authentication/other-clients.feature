@needs-mcp-auth
Feature: A block belongs to the session, not to a connection
  The user who can sign in may sit at another device, and connections come and go while a call waits.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"

  @AHP-TOOLAUTH-049 @should
  Scenario: Another client resolves what the first one sees
    Given a client "B" that watches the session
    And the agent's call of "read_secret" of "vault" is blocked
    When client "B" pushes a good token for "vault"
    Then the push succeeds
    And the call is resumed

  @AHP-TOOLAUTH-077 @must
  Scenario: A client that follows only the session starts the turn and resolves the block
    Given the session is ready
    And a client "B" that watches only the session
    And client "B" has started a turn in which the call of "read_secret" of "vault" is blocked
    When client "B" pushes a token for the resource that the entry names
    Then client "B" sees the entry go
    And the turn comes to its end by itself

  @AHP-TOOLAUTH-050 @should
  Scenario: A block survives the loss of the connection
    Given the agent's call of "read_secret" of "vault" is blocked
    And client "A" has lost its connection and come back with all its subscriptions
    When a good token for "vault" is pushed
    Then the call completes with what the server answers
