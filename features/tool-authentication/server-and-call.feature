@needs-mcp-auth
Feature: A server and a call of it wait independently, and for the same token
  That a server needs a token and that a call waits for one are two facts, each told by itself. Whoever signs in once
  for their resource has done what both wait for.

  Background:
    Given a session with one chat
    And a call of "read_secret" of "vault" is blocked while its server waits for the same token

  @AHP-TOOLAUTH-056 @should
  Scenario: One token ends both waits
    When a good token for "vault" is pushed
    Then the call is resumed
    And "vault" comes to the state ready

  @AHP-TOOLAUTH-047 @may
  Scenario: The end of the call leaves the server waiting or lets it go, but says so
    When client "A" dispatches a failed completion for the call
    Then the action is accepted
    And the call is completed as failed
    And a fresh snapshot shows "vault" as the last action left it
