@needs-mcp-auth
Feature: The wait of a server is told by state, to everybody
  There is no notification for the challenge of a server, so what is not in the state of the session is not known. A
  wait that holds up a turn is raised to the session, or the session merely looks busy.

  Background:
    Given a session with one chat

  @AHP-MCP-039 @must
  Scenario: The state alone suffices to sign in
    Given an MCP server "vault" that demands the scope "secrets.read"
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge names the resource of "vault"
    And the challenge names at least one authorization server

  @AHP-MCP-040 @must
  Scenario: A client that subscribes during the wait finds the whole challenge
    Given the MCP server "vault" is waiting for a token
    When another client looks at the session
    Then it finds "vault" waiting for a token
    And the challenge names the resource of "vault"
    And the challenge names at least one authorization server

  @AHP-MCP-050 @should
  Scenario: A client that was not there when the server was challenged resolves the wait
    Given the MCP server "vault" is waiting for a token
    And a client "B" that watches the session
    When client "B" pushes a good token for "vault"
    Then "vault" comes to the state ready

  @AHP-MCP-049 @should
  Scenario: No auth/required is sent for the resource of a server
    Given client "A" watches the root
    And the MCP server "vault" is waiting for a token
    And "vault" has become ready with a good token
    When the turn comes to its end
    Then no auth/required has named the resource of "vault"

  @AHP-MCP-020 @should
  Scenario: A wait that a turn runs into is raised to the session
    Given client "A" watches the root
    And the MCP server "vault" demands a token in the middle of a turn
    When another client looks at the session
    Then it finds "vault" waiting for a token
    And the session asks for input, in its state or in its summary
