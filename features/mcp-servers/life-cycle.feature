Feature: The state of an MCP server follows its life
  A client shows the state of a server and offers what fits: wait, sign in, start again. A state that lags behind, or
  leaves out what the next step needs, sends the user the wrong way.

  Background:
    Given a session with one chat

  @needs-mcp @AHP-MCP-002 @must
  Scenario: A server that can be reached comes to ready
    Given an MCP server "vault" that is open to all
    When the agent needs "vault"
    Then "vault" comes to the state ready

  @needs-mcp @AHP-MCP-003 @must
  Scenario: A server that cannot be started comes to error and says why
    Given an MCP server "vault" that cannot be started
    When the agent needs "vault"
    Then "vault" comes to the state error
    And the error of "vault" says what happened

  @needs-mcp-auth @AHP-MCP-004 @must
  Scenario: A server that demands a token waits for one
    Given an MCP server "vault" that demands a token
    When the agent needs "vault"
    Then "vault" comes to the state authRequired

  @needs-mcp @AHP-MCP-009 @AHP-MCPS-004 @must
  Scenario Outline: A state change tells the whole new state of a server that is <state>
    Given the MCP server "vault" is <state>
    When another client looks at the session
    Then a fresh snapshot shows "vault" as the last action left it

    Examples:
      | state    |
      | ready    |
      | in error |

  @needs-mcp-auth @AHP-MCP-009 @AHP-MCPS-004 @must
  Scenario: A state change tells the whole challenge
    Given the MCP server "vault" is waiting for a token
    When another client looks at the session
    Then a fresh snapshot shows "vault" as the last action left it

  @needs-mcp @AHP-MCP-017 @should
  Scenario Outline: From <state> on, a requested <request> leads along the documented graph
    Given the MCP server "vault" is <state>
    When the client requests the <request> of "vault"
    Then the request comes back, accepted or rejected
    And the states of "vault" have followed the documented graph

    Examples:
      | state    | request |
      | ready    | stop    |
      | in error | start   |

  @needs-mcp-auth @AHP-MCP-017 @should
  Scenario: From a wait for a token on, the token leads along the documented graph
    Given the MCP server "vault" is waiting for a token
    When a good token for "vault" is pushed
    Then "vault" comes to the state ready
    And the states of "vault" have followed the documented graph
