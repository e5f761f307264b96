@needs-tool
Feature: Several needs stand side by side
  Agents ask for more than one thing at once. Each has its entry, its id and its end.

  Background:
    Given a session with one chat

  @AHP-INPUT-014 @must
  Scenario: Two needs have two ids
    When the agent comes to wait for an approval and another approval
    Then all of it is listed, each under an id of its own

  @AHP-INPUT-013 @AHP-INNEED-010 @must
  Scenario: Settling one leaves the other where it is
    Given the agent waits for an approval and another approval
    And client "A" sees all of it listed
    When client "A" answers the first with an approval
    Then client "A" sees its entry go
    And the other is still listed under its id
    And the session's status carries InputNeeded

  @AHP-INNEED-001 @must
  Scenario: Folding the entries gives the list that a newcomer gets
    When the agent comes to wait for an approval and another approval
    Then client "A" sees all of it listed
    And client "A" and a fresh snapshot list the same

  @AHP-INNEED-001 @must
  Scenario: Folding an entry that is set again gives the list that a newcomer gets
    Given the agent waits for an answer
    And client "A" sees it listed
    When client "A" drafts an answer by the entry
    Then client "A" and a fresh snapshot list the same

  @AHP-INNEED-002 @must
  Scenario: Folding a removal gives the list that a newcomer gets
    Given the agent waits for an approval and another approval
    And client "A" sees all of it listed
    When client "A" answers the second with a denial
    Then client "A" sees its entry go
    And client "A" and a fresh snapshot list the same

  @AHP-INNEED-002 @must
  Scenario: The list goes with its last entry
    Given the agent waits for an approval
    And client "A" sees it listed
    When client "A" answers with an approval
    Then client "A" sees its entry go
    And a fresh snapshot of the session has no list of needs
