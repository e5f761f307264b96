@needs-mcp-auth
Feature: A challenge says everything that a client needs to obtain a token
  The client was not there when the MCP server answered 401 or 403. What the host passes on is all it has: which
  resource, who issues tokens for it, which scopes, and whether signing in again can help.

  Background:
    Given a session with one chat

  @AHP-TOOLAUTH-016 @must
  Scenario: The first challenge of a resource says that a token is required
    Given an MCP server "vault" whose tool "read_secret" demands a token
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge gives the reason "required"

  @AHP-TOOLAUTH-057 @must
  Scenario: A token that had worked and is refused makes the reason expired
    Given an MCP server "vault" whose tool "read_secret" demands a token
    And "read_secret" of "vault" has worked with a token that "vault" takes no more
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge gives the reason "expired"

  @AHP-TOOLAUTH-058 @must
  Scenario: A token that lacks a scope makes the reason insufficientScope
    Given an MCP server "vault" whose tool "read_secret" demands a token
    And "read_secret" of "vault" has worked, and now demands the scope "secrets.write"
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge gives the reason "insufficientScope"
    And the challenge demands exactly the scopes "secrets.write"

  @AHP-TOOLAUTH-017 @must
  Scenario: The challenge names the resource by the URI that the server publishes
    Given an MCP server "vault" whose tool "read_secret" demands a token
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge names the resource of "vault"

  @AHP-TOOLAUTH-059 @must
  Scenario: The challenge names an authorization server
    Given an MCP server "vault" whose tool "read_secret" demands a token
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge names at least one authorization server

  @AHP-TOOLAUTH-018 @should
  Scenario: The scopes of a challenge are passed on
    Given an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge demands scopes

  @AHP-TOOLAUTH-055 @must
  Scenario: Scopes that the metadata do not list are passed on too
    Given an MCP server "vault" whose tool "read_secret" demands the scopes "secrets.read" and "secrets.hidden", of which its metadata list only "secrets.read"
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge demands exactly the scopes "secrets.read" and "secrets.hidden"

  @AHP-TOOLAUTH-021 @should
  Scenario: The explanation of the server reaches the user
    Given an MCP server "vault" whose tool "read_secret" demands a token
    And the challenge of "vault" explains itself
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge carries a description

  @AHP-TOOLAUTH-061 @should
  Scenario: An OAuth client that the host has for the server is made known
    Given an MCP server "vault" whose tool "read_secret" demands a token
    And the host has an OAuth client of its own for "vault"
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge names the OAuth client

  @AHP-TOOLAUTH-019 @must
  Scenario: The token that was refused is not part of the challenge
    Given an MCP server "vault" whose tool "read_secret" demands a token
    And "read_secret" of "vault" has worked with a token that "vault" takes no more
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the challenge holds no token
