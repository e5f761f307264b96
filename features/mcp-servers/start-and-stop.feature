@needs-mcp
Feature: A client may ask for a server to be started or stopped
  Users end a server that misbehaves and start it again. The host decides, but what it shows must be what is so.

  Background:
    Given a session with one chat

  @AHP-MCPS-005 @must
  Scenario: A granted stop shows in the state at once
    Given the MCP server "vault" is ready
    When the client gets "vault" stopped
    Then a fresh snapshot shows "vault" as the last action left it

  @AHP-MCPS-005 @must
  Scenario: A granted start shows in the state, up to its outcome
    Given the MCP server "vault" is ready
    And the client has got "vault" stopped
    When the client gets "vault" started
    Then "vault" does not stay in the state starting
    And a fresh snapshot shows "vault" as the last action left it

  @AHP-MCP-011 @should
  Scenario Outline: The outcome of a granted start is reported when the server was <state>
    Given the MCP server "vault" is <state>
    When the client gets "vault" started
    Then "vault" does not stay in the state starting

    Examples:
      | state    |
      | ready    |
      | in error |

  @AHP-MCP-015 @AHP-MCP-041 @may
  Scenario Outline: A requested <request> is answered, and what the host makes of it is what everybody sees
    Given the MCP server "vault" is ready
    When the client requests the <request> of "vault"
    Then the request comes back, accepted or rejected
    And a fresh snapshot shows "vault" as the last action left it

    Examples:
      | request |
      | stop    |
      | start   |

  @AHP-MCP-012 @must
  Scenario: A stopped server serves the agent no longer
    Given an MCP server "vault" whose tool "read_note" is open to all
    And the MCP server "vault" is ready
    And the client has got "vault" stopped
    When the agent tries "read_note" of "vault" up to the end of a turn
    Then no call of "vault" has succeeded

  @AHP-MCPS-015 @must
  Scenario: The tools of a stopped server are not there
    Given an MCP server "vault" whose tool "read_note" is open to all
    And the MCP server "vault" is ready
    And the client has got "vault" stopped
    When the agent tries "read_note" of "vault" up to the end of a turn
    Then no call of "vault" was set going

  @AHP-MCP-027 @should
  Scenario: A server that is stopped and started keeps its id
    Given the MCP server "vault" is ready
    And the client has got "vault" stopped
    When the client gets "vault" started
    Then "vault" does not stay in the state starting
    And the entry of "vault" has the id that it had before

  @AHP-MCP-019 @must
  Scenario Outline: A <request> request leaves the server enabled as it was
    Given the MCP server "vault" is ready
    When the client requests the <request> of "vault"
    Then the request comes back, accepted or rejected
    And "vault" is enabled as it was before

    Examples:
      | request |
      | stop    |
      | start   |

  @AHP-MCP-018 @must
  Scenario: A server that is disabled is stopped
    Given the MCP server "vault" is ready
    When the client switches "vault" off
    Then "vault" is stopped, or its entry is gone
