Feature: What the host accepts takes effect
  An accepted action is a promise to everybody: it is in what they fold, in what later clients get, and in the list.

  Background:
    Given a session with one chat

  @AHP-DISP-009 @should
  Scenario Outline: <action> is accepted and takes effect
    When client "A" dispatches the action <action>
    Then the action is accepted
    And a fresh snapshot shows its effect

    Examples:
      | action                              |
      | session/titleChanged                |
      | session/isReadChanged to true       |
      | session/isReadChanged to false      |
      | session/isArchivedChanged to true   |
      | session/isArchivedChanged to false  |

  @AHP-DISP-010 @AHP-SESS-030 @must
  Scenario: A new title is in what later clients get
    When client "A" dispatches the action session/titleChanged
    Then the action is accepted
    And a fresh snapshot shows its effect

  @AHP-DISP-010 @AHP-SESS-030 @must
  Scenario: A new title is in the list
    Given the session is listed
    When client "A" dispatches the action session/titleChanged
    Then the list shows its effect
