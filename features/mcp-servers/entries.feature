@needs-mcp
Feature: An MCP server has an entry that every client can read
  Clients list the servers of a session, show how each is doing, and tie tool calls to them. All of that hangs on one
  entry among the customizations, the same for everybody.

  Background:
    Given a session with one chat

  @AHP-MCP-001 @must
  Scenario: The entry has everything that a list needs
    Given an MCP server "vault" that is open to all
    When the agent needs "vault"
    Then "vault" comes to the state ready
    And the entry of "vault" has its type, an id, a URI, a name and a state

  @AHP-MCP-042 @must @until-0.8.0
  Scenario: The entry says whether the server is enabled
    Given the MCP server "vault" is ready
    When another client looks at the session
    Then the entry of "vault" says whether it is enabled

  @AHP-MCPS-002 @must
  Scenario Outline: The state of a server that is <state> is one of the five
    Given the MCP server "vault" is <state>
    When another client looks at the session
    Then every state of "vault" has the members of its kind

    Examples:
      | state    |
      | ready    |
      | in error |

  @needs-mcp-auth @AHP-MCPS-002 @must
  Scenario: The state of a server that is waiting for a token is one of the five
    Given the MCP server "vault" is waiting for a token
    When another client looks at the session
    Then every state of "vault" has the members of its kind

  @AHP-MCP-029 @should
  Scenario: The entry tells nothing of how the server is launched
    Given the MCP server "vault" is ready
    When another client looks at the session
    Then the entry of "vault" tells nothing of how it is launched

  @AHP-MCP-026 @must
  Scenario: A call names the entry of the server that serves it
    Given an MCP server "vault" whose tool "read_note" is open to all
    When the agent calls "read_note" of "vault"
    Then the call of "read_note" names the entry of "vault" as its contributor
