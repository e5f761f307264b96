@needs-mcp-auth
Feature: A tool call that waits for authentication is visible from the session
  A client that watches only the session, such as a phone, must be able to see that a call deep inside a chat waits
  for a token, and to unblock it.

  Background:
    Given a session with one chat
    And an MCP server "vault" whose tool "read_secret" demands the scope "secrets.read"

  @AHP-TOOLAUTH-022 @should @since-0.6.0
  Scenario: The session lists the blocked call
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the session's inputNeeded gains one toolAuthentication entry for that call

  @AHP-TOOLAUTH-025 @must
  Scenario: A session with a blocked call carries InputNeeded
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the session's inputNeeded gains one toolAuthentication entry for that call
    And the session's status carries InputNeeded

  @AHP-TOOLAUTH-023 @AHP-TOOLAUTH-064 @must
  Scenario: The entry shows the blocked call as the chat does
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the session's inputNeeded gains one toolAuthentication entry for that call
    And the entry names the chat, the turn and the call with the same challenge

  @AHP-TOOLAUTH-024 @must
  Scenario: A blocked call is not offered for approval
    Given the agent's call of "read_secret" of "vault" is blocked
    When another client looks at the session
    Then it finds no toolConfirmation entry for the call

  @AHP-TOOLAUTH-081 @must
  Scenario: A client that subscribes to the session during the block finds the entry
    Given the agent's call of "read_secret" of "vault" is blocked
    And the session lists the blocked call
    When another client looks at the session
    Then it finds the entry of the call

  @AHP-TOOLAUTH-067 @must
  Scenario: The session list says that somebody has to sign in
    Given client "A" watches the root
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And the session comes to be listed with the status InputNeeded

  @AHP-TOOLAUTH-068 @should
  Scenario: The summary needs input for every client, not only for the one that started the turn
    Given a client "B" that watches only the root
    When the agent calls "read_secret" of "vault"
    Then the call becomes auth-required
    And client "B" comes to see the session listed with the status InputNeeded

  @AHP-TOOLAUTH-065 @must
  Scenario: The removal names the id under which the entry was set
    Given the agent's call of "read_secret" of "vault" is blocked
    And the session lists the blocked call
    When a good token for "vault" is pushed
    Then the removal of the entry names the id of the entry
