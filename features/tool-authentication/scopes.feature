@needs-mcp-auth
Feature: Scopes say whether a token fits before it is tried
  A client may say which scopes its token grants. A host that reads this must not ask for more than the challenge did,
  and must not take less.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.hidden", of which its metadata list only "secrets.read"
    And the agent's call of "read_secret" of "vault" is blocked

  @AHP-TOOLAUTH-074 @must
  Scenario: A token with exactly the demanded scopes fits, although the metadata list others
    When a good token for "vault" is pushed with the scope "secrets.hidden"
    Then the push succeeds
    And the call is resumed

  @AHP-TOOLAUTH-034 @should
  Scenario: A token whose scopes do not cover the challenge does not release the call
    When a token that "vault" refuses is pushed with the scope "something.else"
    Then the call is auth-required, still or again
    And the call has not succeeded
