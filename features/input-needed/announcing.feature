@needs-tool
Feature: The list of sessions tells of the need
  People find out on the overview, where no session is subscribed to.

  Background:
    Given a session with one chat

  @AHP-INNEED-018 @must
  Scenario: The session is listed as in need while something is open
    Given client "A" watches the root
    When the agent comes to wait for an approval
    Then client "A" sees it listed
    And the session comes to be listed with the status InputNeeded

  @AHP-INNEED-018 @must
  Scenario: The session is listed as in progress once it is settled
    Given client "A" watches the root
    And the agent waits for an approval
    And client "A" sees it listed
    When client "A" answers with an approval
    Then client "A" sees its entry go
    And the session comes to be listed with the status InProgress

  @AHP-INPUT-028 @should
  Scenario: Who watches the root is told of the need
    Given a client "B" that watches only the root
    When the agent comes to wait for an approval
    Then client "B" is told that the session needs input

  @AHP-INPUT-028 @should
  Scenario: Who watches the root is told of its end
    Given a client "B" that watches only the root
    And the agent waits for an approval
    And client "B" has been told that the session needs input
    When client "A" answers with an approval
    Then client "B" is told that the session no longer needs input
