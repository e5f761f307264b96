@needs-mcp-auth
Feature: A blocked call keeps the input that was confirmed
  A user who has changed the input of a call before letting it run has agreed to that input and to no other. The wait
  for a token does not bring the old one back.

  @AHP-TOOLAUTH-054 @must
  Scenario: The resumed call runs with the edited input
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands a token
    And the agent's call of "read_secret" of "vault" is offered with the input "original", for editing
    And the client has confirmed the call with the input "edited", and it is blocked
    When a good token for "vault" is pushed
    Then the call of "read_secret" is carried out
    And the call was made with the input "edited"
