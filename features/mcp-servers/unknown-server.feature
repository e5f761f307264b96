Feature: A request about a server that is not there changes nothing
  Entries come and go, and a request may cross their removal. It must hit no other server and leave nothing behind.

  @AHP-MCP-016 @must
  Scenario Outline: A requested <request> of an unknown server changes nothing
    Given a session with one chat
    When the client requests the <request> of a server that is not there
    Then the request comes back, accepted or rejected
    And the MCP servers of the session are as before

    Examples:
      | request |
      | start   |
      | stop    |

  @needs-mcp @AHP-MCP-016 @must
  Scenario Outline: A requested <request> of an unknown server leaves the others alone
    Given a session with one chat
    And the MCP server "vault" is ready
    When the client requests the <request> of a server that is not there
    Then the request comes back, accepted or rejected
    And the MCP servers of the session are as before

    Examples:
      | request |
      | start   |
      | stop    |
