Feature: A session lists everything that its chats wait for
  A phone that shows one session cannot subscribe to each of its chats. Whatever waits for a person or for a client
  deep inside a turn has to stand in the session's inputNeeded, for those who watch and for those who come later.

  Background:
    Given a session with one chat
    And a client "B" that watches only the session

  @AHP-INPUT-001 @AHP-INPUT-029 @must @needs-turn
  Scenario: An open question is listed
    When the agent comes to wait for an answer
    Then client "B" sees it listed as chatInput
    And the entry has all that its kind demands

  @AHP-INPUT-002 @AHP-INPUT-019 @AHP-INPUT-029 @must @needs-tool
  Scenario: A call that waits for the approval of its input is listed
    When the agent comes to wait for an approval
    Then client "B" sees it listed as toolConfirmation
    And the entry shows the call as pending-confirmation
    And the entry has all that its kind demands

  @AHP-INPUT-003 @AHP-INPUT-019 @AHP-INPUT-029 @must @needs-tool
  Scenario: A call whose result waits for approval is listed
    When the agent comes to wait for the approval of a result
    Then client "B" sees it listed as toolConfirmation
    And the entry shows the call as pending-result-confirmation
    And the entry has all that its kind demands

  @AHP-INPUT-003 @must @needs-client-tool
  Scenario: A result of a client that waits for approval is listed
    Given client "A" provides a tool
    And the agent waits for a tool of client "A"
    When client "A" answers with a result to be approved
    Then client "B" sees it listed as toolConfirmation
    And the entry shows the call as pending-result-confirmation

  @AHP-INPUT-004 @AHP-INPUT-017 @AHP-INPUT-029 @must @needs-client-tool
  Scenario: A running call of a client's tool is listed for its owner
    Given client "A" provides a tool
    When the agent comes to wait for a tool of client "A"
    Then client "B" sees it listed as toolClientExecution
    And the entry has all that its kind demands
    And the entry hands the call to client "A"

  @AHP-INPUT-004 @must @needs-client-tool
  Scenario: A tool that came with the creation of the session is handed to its owner alike
    Given a session that client "A" created with a tool of its own
    When the agent comes to wait for a tool of client "A"
    Then client "A" sees it listed as toolClientExecution
    And the entry hands the call to client "A"

  @AHP-INPUT-022 @must @needs-client-tool
  Scenario Outline: Who subscribes while the session waits for <what> finds it listed
    Given client "A" provides a tool
    And the agent waits for <what>
    And client "A" sees it listed
    When a client "C" joins that watches the session
    Then another client finds it listed once

    Examples:
      | what                 |
      | an answer            |
      | an approval          |
      | a tool of client "A" |

  @AHP-INPUT-023 @must @needs-tool
  Scenario: A call that waits for nobody is not listed
    When the agent runs a tool that nobody has to approve
    Then the tool call was never listed
