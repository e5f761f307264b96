@needs-tool
Feature: The needs of all chats come together in one list
  The roll-up exists because a session has many chats; a list that knows the default chat only is no roll-up.

  Background:
    Given a session with one chat
    And a second chat in the session, if the agent can have several
    And the agent waits for an approval

  @AHP-INNEED-019 @AHP-INPUT-014 @must
  Scenario: Needs of two chats stand side by side
    When the second chat comes to wait for an approval
    Then all of it is listed, each under an id of its own

  @AHP-INNEED-011 @must
  Scenario: The entry of the second chat names the second chat
    When the second chat comes to wait for an approval
    Then client "A" sees it listed
    And the entry names the chat in which the request lives

  @AHP-INPUT-013 @must
  Scenario: Settling the need of one chat leaves that of the other
    Given the second chat waits for an approval
    And client "A" sees all of it listed
    When client "A" answers the second with an approval
    Then client "A" sees its entry go
    And the other is still listed under its id
    And the session's status carries InputNeeded

  @AHP-INPUT-010 @must
  Scenario: The need of a chat goes with the chat
    Given the second chat waits for an approval
    And client "A" sees all of it listed
    When the second chat is disposed of
    Then client "A" sees its entry go
    And the other is still listed under its id
