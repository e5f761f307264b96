@needs-mcp-auth
Feature: Any client may give up on a blocked call
  Whoever cannot or does not want to sign in ends the call as failed, and the agent goes on without it.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"

  @AHP-TOOLAUTH-039 @must
  Scenario: A failed completion from a client ends the blocked call
    Given the agent's call of "read_secret" of "vault" is blocked
    When client "A" dispatches a failed completion for the call
    Then the action is accepted
    And the call is completed as failed

  @AHP-TOOLAUTH-040 @must
  Scenario: It need not be the client that started the turn
    Given a client "B" that watches the chat
    And the agent's call of "read_secret" of "vault" is blocked
    When client "B" dispatches a failed completion for the call
    Then the action is accepted
    And the call is completed as failed

  @AHP-TOOLAUTH-076 @must
  Scenario: It need not be a client that follows the chat
    Given a client "B" that watches only the session
    And the agent's call of "read_secret" of "vault" is blocked
    And client "B" sees the entry of the call
    When client "B" dispatches a failed completion for the call
    Then the entry of the call goes
    And the call is completed as failed

  @AHP-TOOLAUTH-027 @must
  Scenario: The entry goes with the cancelled call
    Given the agent's call of "read_secret" of "vault" is blocked
    And the session lists the blocked call
    When client "A" dispatches a failed completion for the call
    Then the entry of the call goes
    And a fresh snapshot of the session lacks the entry

  @AHP-TOOLAUTH-009 @must
  Scenario: What the call had put out survives its cancellation
    Given the agent's call of "read_secret" of "vault" is blocked after it has put out "half of it"
    When client "A" dispatches a failed completion for the call
    Then the call is completed as failed
    And the ended call still shows "half of it"

  @AHP-TOOLAUTH-010 @must
  Scenario: A cancelled call is not presented for a result confirmation
    Given the agent's call of "read_secret" of "vault" is blocked
    When client "A" dispatches a failed completion that asks for a result confirmation for the call
    Then the action is accepted
    And the call is completed as failed

  @AHP-TOOLAUTH-042 @must
  Scenario: A token pushed later does not wake the cancelled call
    Given the agent's call of "read_secret" of "vault" is blocked
    And client "A" has ended the call by a failed completion
    When a good token for "vault" is pushed
    And the turn comes to its end
    Then nothing more is said about the call

  @AHP-TOOLAUTH-079 @should
  Scenario: The agent goes on without the cancelled call
    Given the agent's call of "read_secret" of "vault" is blocked
    When client "A" dispatches a failed completion for the call
    Then the turn comes to its end by itself
