@needs-mcp-auth
Feature: No client gets around the authentication
  A blocked call is released by a token that its server accepts, and by nothing that a client merely says.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked

  @AHP-TOOLAUTH-011 @AHP-TOOLAUTH-041 @must
  Scenario: A client that claims success achieves nothing
    When client "A" dispatches a successful completion for the call
    Then the call is still auth-required
    And what the client claimed is nowhere in the chat

  @AHP-TOOLAUTH-041 @must
  Scenario: After a claim of success the real result still comes
    Given client "A" has claimed success for the call
    When a good token for "vault" is pushed
    Then the call completes with what the server answers
    And what the client claimed is nowhere in the chat

  @AHP-TOOLAUTH-078 @should
  Scenario: The claim of success comes back rejected
    When client "A" dispatches a successful completion for the call
    Then the action comes back rejected

  @AHP-TOOLAUTH-044 @must
  Scenario Outline: <answer> is rejected, as the call does not wait for a confirmation
    When client "A" dispatches <answer> for the call
    Then the action comes back rejected
    And the call is still auth-required

    Examples:
      | answer      |
      | an approval |
      | a denial    |

  @AHP-TOOLAUTH-013 @must
  Scenario Outline: <action> leaves a blocked call as it is
    When client "A" dispatches <action> for the call
    Then the chat is as it was before

    Examples:
      | action                |
      | a content change      |
      | a result confirmation |
      | an approval           |

  @AHP-TOOLAUTH-046 @should
  Scenario Outline: <action> for a blocked call is rejected
    When client "A" dispatches <action> for the call
    Then the action comes back rejected

    Examples:
      | action                |
      | a content change      |
      | a result confirmation |

  @AHP-TOOLAUTH-045 @should
  Scenario Outline: <action> is the host's to say
    When client "A" dispatches <action> for the call
    Then the action comes back rejected

    Examples:
      | action                    |
      | chat/toolCallAuthRequired |
      | chat/toolCallAuthResolved |

  @AHP-TOOLAUTH-080 @must
  Scenario: A client cannot declare the call resolved
    When client "A" dispatches chat/toolCallAuthResolved for the call
    Then the call is still auth-required

  @AHP-TOOLAUTH-080 @must
  Scenario: A client cannot replace the challenge
    When client "A" dispatches chat/toolCallAuthRequired for the call
    Then the call is still auth-required
    And the chat is as it was before
