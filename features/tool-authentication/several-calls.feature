@needs-mcp-auth
Feature: Several blocked calls are told apart
  Agents call tools in parallel. Each blocked call is its own matter: one token may free all calls that wait for its
  resource, and must free no other.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"

  @AHP-TOOLAUTH-035 @must
  Scenario: One token resumes every call that waits for its resource
    Given two calls of "read_secret" of "vault" are blocked
    When a good token for "vault" is pushed
    Then both calls are resumed
    And both calls complete with what the server answers

  @AHP-TOOLAUTH-037 @must
  Scenario: Two blocked calls have two entries
    When the agent calls "read_secret" of "vault" twice at once
    Then the session lists two toolAuthentication entries with different ids

  @AHP-TOOLAUTH-036 @must
  Scenario: A token for one resource does not free a call that waits for another
    Given an MCP server "mint" whose tool "make_coin" demands a token
    And a call of "read_secret" of "vault" and one of "make_coin" of "mint" are blocked
    When a good token for "vault" is pushed
    Then the call of "read_secret" is resumed
    And the call of "make_coin" is still auth-required

  @AHP-TOOLAUTH-030 @must
  Scenario: One token serves two servers of one resource
    Given the resource of "vault" also has an MCP server "annex", whose tool "read_deed" demands a token
    And a call of "read_secret" of "vault" and one of "read_deed" of "annex" are blocked
    When a good token for "vault" is pushed
    Then both calls are resumed
    And both calls complete with what the server answers

  @AHP-TOOLAUTH-038 @must
  Scenario: A resumed call that is challenged again is blocked again
    Given "read_secret" of "vault" then demands the scope "secrets.write" as well
    And the agent's call of "read_secret" of "vault" is blocked
    When a good token for "vault" is pushed
    Then the call is challenged again
    And the challenge gives the reason "insufficientScope"
    And the challenge demands exactly the scopes "secrets.write"

  @AHP-TOOLAUTH-038 @must
  Scenario: The second challenge is met like the first
    Given "read_secret" of "vault" then demands the scope "secrets.write" as well
    And the agent's call of "read_secret" of "vault" is blocked
    And the first challenge of the call has been met and a second one has come
    When the stronger token for "vault" is pushed
    Then the call completes with what the server answers
