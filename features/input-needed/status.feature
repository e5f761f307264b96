Feature: The status says whether somebody has to act
  Session lists show one value. It has to rise with the first thing that waits for the user, to fall when nothing
  does while the turn goes on, and to leave the other flags alone.

  Background:
    Given a session with one chat
    And client "A" provides a tool

  @AHP-INPUT-011 @must @needs-client-tool
  Scenario Outline: A session that waits for <what> carries InputNeeded
    When the agent comes to wait for <what>
    Then client "A" sees all of it listed
    And the session's status carries InputNeeded

    Examples:
      | what                                 |
      | an answer                            |
      | an approval                          |
      | the approval of a result             |
      | an approval and a tool of client "A" |

  @AHP-INPUT-026 @must @needs-tool
  Scenario Outline: After <reply> the <where> is in progress again
    Given the agent waits for <what>
    And client "A" sees it listed
    When client "A" answers with <reply>
    Then client "A" sees its entry go
    And a fresh snapshot of the <where> shows the status InProgress

    Examples:
      | what        | reply       | where   |
      | an answer   | accept      | chat    |
      | an answer   | accept      | session |
      | an approval | an approval | session |

  @AHP-INPUT-027 @must @needs-client-tool @until-0.8.0
  Scenario: A client's tool alone makes the session InputNeeded
    When the agent comes to wait for a tool of client "A"
    Then client "A" sees it listed
    And a fresh snapshot of the session shows the status InputNeeded

  @AHP-INPUT-101 @must @needs-client-tool @since-0.8.0
  Scenario: A client's tool alone leaves the session in progress
    Given client "A" watches the root
    When the agent comes to wait for a tool of client "A"
    Then client "A" sees it listed
    And a fresh snapshot of the session shows the status InProgress
    And the session comes to be listed with the status InProgress

  @AHP-INPUT-012 @must @needs-tool @until-0.8.0
  Scenario: Folding the removal of the last entry leaves the other flags alone
    Given the agent waits for an approval
    And client "A" has archived the session
    When client "A" answers with an approval
    Then client "A" sees its entry go
    And client "A" and a fresh snapshot agree about the flags of the session

  @AHP-INPUT-102 @must @needs-client-tool @since-0.8.0
  Scenario: With nothing left but a client's tool the session is in progress again
    Given the agent waits for an approval and a tool of client "A"
    And client "A" sees all of it listed
    When client "A" answers the first with an approval
    Then client "A" sees its entry go
    And the other is still listed under its id
    And client "A" and a fresh snapshot agree about the flags of the session
    And a fresh snapshot of the session shows the status InProgress
