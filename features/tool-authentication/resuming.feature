@needs-mcp-auth
Feature: An accepted token resumes the blocked call
  Signing in is the whole point of the block. After the push the call goes on under its id, with its input, and
  nobody is asked any longer.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked

  @AHP-TOOLAUTH-029 @must
  Scenario: A token for the resource of a live challenge is welcome although no agent lists the resource
    Given no agent lists the resource of the challenge
    When a good token for "vault" is pushed
    Then the push succeeds

  @AHP-TOOLAUTH-030 @must
  Scenario: The host says that the call is resumed
    When a good token for "vault" is pushed
    Then the call is resumed

  @AHP-TOOLAUTH-071 @must
  Scenario: The resumed call ends with what the server answers
    When a good token for "vault" is pushed
    Then the call is resumed
    And the call completes with what the server answers

  @AHP-TOOLAUTH-006 @must
  Scenario: Nothing of the challenge is left on the resumed call
    When a good token for "vault" is pushed
    Then the call is resumed
    And the call carries no challenge any more

  @AHP-TOOLAUTH-026 @should @since-0.6.0
  Scenario: The entry goes with the block
    Given the session lists the blocked call
    When a good token for "vault" is pushed
    Then the call is resumed
    And the entry of the call goes
    And a fresh snapshot of the session lacks the entry

  @AHP-TOOLAUTH-069 @should
  Scenario: The entry does not go before the call is resumed
    Given the session lists the blocked call
    When a good token for "vault" is pushed
    Then the entry of the call goes
    And the removal of the entry does not come before the resolution

  @AHP-TOOLAUTH-070 @must
  Scenario Outline: While the turn goes on the <where> is no longer in need of input
    When a good token for "vault" is pushed
    Then the call completes with what the server answers
    And a fresh snapshot of the <where> shows the status InProgress

    Examples:
      | where   |
      | chat    |
      | session |

  @AHP-TOOLAUTH-075 @must
  Scenario: A token without scopes resolves a challenge that names some
    When a good token for "vault" is pushed
    Then the push succeeds
    And the call is resumed
    And the call completes with what the server answers
