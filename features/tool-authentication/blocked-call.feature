@needs-mcp-auth
Feature: A challenged tool call is blocked, not failed
  An MCP server may demand a token in the middle of a turn. Whoever watches the chat must learn that the call waits
  for one, and the turn must wait with it: a challenge that ends as a failed tool leaves the user no way to sign in.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"

  @AHP-TOOLAUTH-014 @must @since-0.6.0
  Scenario: A challenge makes the call auth-required
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required

  @AHP-TOOLAUTH-052 @must
  Scenario: The turn of a blocked call stays active
    Given the agent's call of "read_secret" of "vault" is blocked
    When another client looks at the chat
    Then the turn is still active and contains the blocked call

  @AHP-TURN-027 @must
  Scenario: Another turn does not take the place of the one that waits
    Given the agent's call of "read_secret" of "vault" is blocked
    When client "A" starts another turn
    Then the call is still auth-required

  @AHP-TOOLAUTH-048 @AHP-TOOLAUTH-063 @must
  Scenario: A client that subscribes to the chat during the block finds the call with its challenge
    Given the agent's call of "read_secret" of "vault" is blocked
    When another client looks at the chat
    Then it finds the call auth-required, with the server that contributes it and the challenge

  @AHP-TOOLAUTH-008 @must
  Scenario: A chat with a blocked call needs input
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And a fresh snapshot of the chat shows the status InputNeeded

  @AHP-TOOLAUTH-001 @must
  Scenario: What the call had put out before the challenge survives
    Given the agent's call of "read_secret" of "vault" is blocked after it has put out "half of it"
    When another client looks at the chat
    Then the blocked call still shows "half of it"

  @AHP-TOOLAUTH-047 @may
  Scenario: The state of the server is its own affair while a call is blocked
    Given the agent's call of "read_secret" of "vault" is blocked
    When another client looks at the session
    Then the server of the call is listed in one of its legal states

  @AHP-TOOLAUTH-082 @must
  Scenario: The host alone is the author of the challenge and of its resolution
    Given the agent's call of "read_secret" of "vault" is blocked
    When a good token for "vault" is pushed
    Then the call is resumed
    And neither the challenge nor its resolution names a client as origin
