@needs-mcp-auth @needs-mcp-record
Feature: The MCP server bears witness
  What a host tells its clients is one half; which requests and which tokens reach the server is the other. A token
  that goes to the wrong server, or a call that goes out after it was given up, is seen there alone.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"

  @AHP-TOOLAUTH-016 @must
  Scenario: The challenge to a request without a token has the reason required
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge gives the reason "required"
    And "vault" has got calls of "read_secret", none with a token

  @AHP-TOOLAUTH-071 @must
  Scenario: The request that resumes the call carries the token that was pushed
    Given the agent's call of "read_secret" of "vault" is blocked
    When a good token for "vault" is pushed
    Then the call completes with what the server answers
    And "vault" has got the good token, and no other

  @AHP-TOOLAUTH-036 @must
  Scenario: A token for one server does not travel to another
    Given an MCP server "registry" whose tool "publish" demands a token
    And a call of "read_secret" of "vault" and one of "publish" of "registry" are blocked
    When a good token for "vault" is pushed
    Then the call of "read_secret" is resumed
    And "vault" has got the good token
    And "registry" has got no token

  @AHP-TOOLAUTH-042 @must
  Scenario: The request of a cancelled call is not sent any more
    Given the agent's call of "read_secret" of "vault" is blocked
    And client "A" has ended the call by a failed completion
    When a good token for "vault" is pushed
    And the turn comes to its end
    Then "vault" has got no token

  @AHP-TOOLAUTH-043 @must
  Scenario: The request of a cancelled turn is not sent any more
    Given the agent's call of "read_secret" of "vault" is blocked
    And the client has cancelled the turn
    And the call is over
    When a good token for "vault" is pushed
    And another turn runs to its end
    Then "vault" has got no token
