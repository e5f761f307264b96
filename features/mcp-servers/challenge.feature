@needs-mcp-auth
Feature: A waiting server says everything that a client needs to obtain a token
  The challenge of a server is told by its state alone. Whoever reads it must be able to sign in: where, for what, and
  whether a token that was there has run out or lacks a scope.

  Background:
    Given a session with one chat

  @AHP-MCPS-011 @must
  Scenario: The first challenge says that a token is required
    Given an MCP server "vault" that demands a token
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge gives the reason "required"

  @AHP-MCP-005 @must
  Scenario: A token that had worked and is refused makes the reason expired
    Given the MCP server "vault" waits again, because its token has expired
    When another client looks at the session
    Then it finds "vault" waiting for a token
    And the challenge gives the reason "expired"

  @AHP-MCP-006 @must
  Scenario: A token that lacks a scope makes the reason insufficientScope
    Given the MCP server "vault" waits again, because it now demands the scope "secrets.write"
    When another client looks at the session
    Then it finds "vault" waiting for a token
    And the challenge gives the reason "insufficientScope"

  @AHP-MCP-007 @must
  Scenario: The challenge names the resource by the URI that the server publishes
    Given an MCP server "vault" that demands a token
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge names the resource of "vault"

  @AHP-MCP-044 @must
  Scenario: The challenge names an authorization server
    Given an MCP server "vault" that demands a token
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge names at least one authorization server

  @AHP-MCPS-031 @should
  Scenario: The scopes of the challenge are passed on
    Given an MCP server "vault" that demands the scope "secrets.read"
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge demands scopes

  @AHP-MCP-043 @must
  Scenario: Scopes that the metadata do not list are passed on too
    Given an MCP server "vault" that demands the scopes "secrets.read" and "secrets.hidden", of which its metadata list only "secrets.read"
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge demands exactly the scopes "secrets.read" and "secrets.hidden"

  @AHP-MCP-046 @should
  Scenario: The explanation of the server reaches the user
    Given an MCP server "vault" that demands a token
    And the challenge of "vault" explains itself
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge carries a description

  @AHP-MCPS-035 @should
  Scenario: An OAuth client that the host has for the server is made known
    Given an MCP server "vault" that demands a token
    And the host has an OAuth client of its own for "vault"
    When the agent needs "vault"
    Then "vault" comes to the state authRequired
    And the challenge names the OAuth client

  @AHP-MCP-023 @must
  Scenario: The token that was refused is not part of the state
    Given the MCP server "vault" waits again, because its token has expired
    When another client looks at the session
    Then it finds "vault" waiting for a token
    And the challenge holds no token
