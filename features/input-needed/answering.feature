Feature: An entry is enough to answer
  A client that watches the session alone dispatches its answer to the chat that the entry names, and never has to
  subscribe to it. Several clients may see the same entry; one answer counts.

  Background:
    Given a session with one chat
    And a client "B" that watches only the session

  @AHP-INPUT-015 @AHP-INPUT-016 @must @needs-turn
  Scenario: A question is answered by its entry
    Given the agent waits for an answer
    When client "B" answers by the entry with accept
    Then client "B" sees its entry go
    And the turn comes to its end by itself

  @AHP-INPUT-015 @AHP-INPUT-016 @must @needs-tool
  Scenario Outline: <what> is given by the entry
    Given the agent waits for <what>
    When client "B" answers by the entry with an approval
    Then client "B" sees its entry go
    And the turn comes to its end by itself

    Examples:
      | what                     |
      | an approval              |
      | the approval of a result |

  @AHP-INPUT-015 @AHP-INPUT-016 @must @needs-client-tool
  Scenario: The owner of a tool runs it by the entry
    Given client "B" provides a tool
    And the agent waits for a tool of client "B"
    When client "B" answers by the entry with a result
    Then client "B" sees its entry go
    And the turn comes to its end by itself

  @AHP-INPUT-016 @must @needs-turn
  Scenario: A draft comes from a client that is not in the chat
    Given the agent waits for an answer
    When client "B" drafts an answer by the entry
    Then the chat shows the draft

  @AHP-INPUT-025 @should @needs-turn
  Scenario: Of two answers the second comes back rejected
    Given a client "C" that watches the session and the chat
    And the agent waits for an answer
    And client "C" has answered with accept
    When client "A" answers with decline
    Then the action comes back rejected

  @AHP-INPUT-025 @should @needs-turn
  Scenario: Of two answers the first one stands
    Given a client "C" that watches the session and the chat
    And the agent waits for an answer
    And client "C" has answered with accept
    When client "A" answers with decline
    Then the answer that stands in the chat is "accept"
