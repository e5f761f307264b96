@needs-mcp-auth
Feature: A token brings a waiting server to ready
  Signing in is all that the user does; the host does the rest, for every client that watches the session.

  Background:
    Given a session with one chat
    And the MCP server "vault" is waiting for a token

  @AHP-MCP-008 @must
  Scenario: A good token is enough, without a start request
    When a good token for "vault" is pushed
    Then "vault" comes to the state ready

  @AHP-MCP-008 @must
  Scenario: The tools of the server work after the sign-in
    Given "vault" has become ready with a good token
    And the turn has come to its end
    When the agent calls "read_note" of "vault"
    Then the call of "read_note" is carried out

  @AHP-MCP-047 @AHP-AUTH-002 @must
  Scenario: The resource of a waiting server is known although no agent lists it
    Given no agent lists the resource of the challenge
    When a good token for "vault" is pushed
    Then the push succeeds

  @AHP-MCP-048 @must
  Scenario: A token that the server refuses does not make it ready
    When a token that "vault" refuses is pushed
    Then "vault" has not become ready

  @AHP-MCP-048 @must
  Scenario: A good token helps a server after a refused one
    Given "vault" was offered a token that it refuses
    When a good token for "vault" is pushed
    Then "vault" comes to the state ready
    And "vault" was not ready before the good token came
