@needs-mcp-auth
Feature: The server behind a blocked call
  The call and its server each have a state of their own, but they wait for the same token.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked

  @AHP-TOOLAUTH-066 @should
  Scenario: Stopping the server ends the wait of its call
    Given the session lists the blocked call
    When the client gets "vault" stopped
    Then the call is no longer auth-required
    And the entry of the call goes
