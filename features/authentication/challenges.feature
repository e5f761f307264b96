@needs-mcp-auth
Feature: Challenges of MCP servers obey the rules of authentication
  What holds for the resources of agents holds for those of MCP servers: the same metadata, the same command.

  Background:
    Given a session with one chat

  @AHP-AUTH-012 @must
  Scenario: What a challenge says of its resource uses the names of RFC 9728
    Given an MCP server "vault" that demands the scope "secrets.read"
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the metadata of the challenge use the names of RFC 9728

  @AHP-AUTH-006 @may
  Scenario: A token whose scopes do not cover the challenge does not end the wait
    Given an MCP server "vault" that demands the scope "secrets.read"
    And the MCP server "vault" is waiting for a token
    When a token that "vault" refuses is pushed with the scope "something.else"
    Then "vault" has not become ready
