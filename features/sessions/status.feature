Feature: The session list shows what the chats are doing
  Most clients show a list of sessions and open none of them. What a chat is at has to come through to that list.

  Background:
    Given a session with one chat
    And client "A" watches the root

  @AHP-STAT-002 @must @needs-turn
  Scenario: During a turn the session is in progress
    When a turn that is held open runs in the default chat
    Then the session comes to be listed with the status InProgress

  @AHP-STAT-002 @must @needs-turn
  Scenario: After the turn the session is idle
    Given a turn that is held open has been started in the default chat
    When the turn comes to its end
    Then the session comes to be listed with the status Idle
    And a fresh snapshot of the session shows the status Idle

  @AHP-STAT-001 @must @needs-turn
  Scenario: During a turn too the status is one activity value with flags
    When a turn that is held open runs in the default chat
    Then a fresh snapshot of the session shows a legal status

  @AHP-STAT-003 @must @needs-turn
  Scenario: After a turn that failed the session is in error
    When a turn that fails runs in the default chat
    Then the session comes to be listed with the status Error

  @AHP-STAT-005 @should @needs-turn
  Scenario: Without trouble the default chat decides
    Given a second chat in the session, if the agent can have several
    When a turn that is held open runs in the default chat
    Then the session comes to be listed with the status InProgress

  @AHP-STAT-005 @should @needs-turn
  Scenario: Work in another chat leaves the session idle
    Given the session is listed
    And a second chat in the session, if the agent can have several
    When a turn that is held open runs in the second chat
    Then the session comes to be listed with the status Idle
    And a fresh snapshot of the session shows the status Idle

  @AHP-STAT-006 @should @needs-tool @needs-turn
  Scenario: A need for input in any chat is that of the session
    Given the session is listed
    And a second chat in the session, if the agent can have several
    When a turn that waits for a confirmation runs in the second chat
    Then the session comes to be listed with the status InputNeeded

  @AHP-STAT-007 @should @needs-turn
  Scenario: An error in any chat is that of the session
    Given the session is listed
    And a second chat in the session, if the agent can have several
    When a turn that fails runs in the second chat
    Then the session comes to be listed with the status Error

  @AHP-STAT-009 @should
  Scenario: The session is as old as its youngest chat
    Given the session is listed
    When client "A" puts a message to the agent
    Then the session in the list is as old as its youngest chat
