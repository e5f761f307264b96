@needs-mcp-auth
Feature: Stopping a server ends its wait for a token
  Whoever cannot sign in stops the server. It must not ask again, and nobody may be asked for it any longer.

  Background:
    Given a session with one chat

  @AHP-MCP-013 @must
  Scenario: A server that was stopped while it waited does not ask again
    Given the MCP server "vault" is waiting for a token
    When the client gets "vault" stopped
    Then the turn goes on to its end, whatever that is
    And "vault" does not wait for a token any more

  @AHP-MCP-014 @should
  Scenario: The session needs no input for a server that was stopped
    Given client "A" watches the root
    And the MCP server "vault" demands a token in the middle of a turn
    And the session is seen to ask for input
    When the client gets "vault" stopped
    Then the session comes to ask for no input

  @AHP-MCP-014 @should
  Scenario: The entries that were raised for a stopped server go
    Given an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked
    And the session lists the blocked call
    When the client gets "vault" stopped
    Then the entry of the call goes
    And the session's status no longer carries InputNeeded
