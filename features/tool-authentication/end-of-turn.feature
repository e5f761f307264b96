@needs-mcp-auth
Feature: A blocked call ends with its turn
  When the turn is over nobody needs to sign in for it any more, and the call must not come back to life.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked

  @AHP-TOOLAUTH-028 @must
  Scenario Outline: The entry goes when <event>
    Given the session lists the blocked call
    When <event>
    Then the entry of the call goes
    And a fresh snapshot of the session lacks the entry
    And the session's status no longer carries InputNeeded

    Examples:
      | event                       |
      | the client cancels the turn |
      | the client truncates the chat |

  @AHP-TOOLAUTH-012 @must
  Scenario: The call of a cancelled turn is cancelled, without its challenge
    When the client cancels the turn
    Then the last turn of the chat shows the call cancelled as skipped, without a challenge

  @AHP-TOOLAUTH-043 @must
  Scenario: A token pushed after the turn was cancelled does not take the call up again
    Given the client has cancelled the turn
    And the call is over
    When a good token for "vault" is pushed
    And another turn runs to its end
    Then nothing more is said about the call
