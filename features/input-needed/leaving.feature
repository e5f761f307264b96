Feature: An entry goes with what it stands for
  A list that keeps what is settled sends people to answer questions that nobody asks any more, and clients to run
  tools twice. The entry goes when the request is answered, whichever way, and at the latest with its turn.

  Background:
    Given a session with one chat
    And client "A" provides a tool

  @AHP-INPUT-006 @must @needs-turn
  Scenario Outline: The entry of a question goes with <reply>
    Given the agent waits for an answer
    And client "A" sees it listed
    When client "A" answers with <reply>
    Then client "A" sees its entry go
    And a fresh snapshot of the session lists it no more

    Examples:
      | reply   |
      | accept  |
      | decline |
      | cancel  |

  @AHP-INPUT-007 @must @needs-tool
  Scenario Outline: The entry for <what> goes with <reply>
    Given the agent waits for <what>
    And client "A" sees it listed
    When client "A" answers with <reply>
    Then client "A" sees its entry go
    And a fresh snapshot of the session lists it no more

    Examples:
      | what                     | reply       |
      | an approval              | an approval |
      | an approval              | a denial    |
      | the approval of a result | an approval |
      | the approval of a result | a denial    |

  @AHP-INPUT-008 @must @needs-client-tool
  Scenario: The entry of a client's tool goes with its result
    Given the agent waits for a tool of client "A"
    And client "A" sees it listed
    When client "A" answers with a result
    Then client "A" sees its entry go
    And a fresh snapshot of the session lists it no more

  @AHP-INPUT-010 @must @needs-client-tool
  Scenario Outline: The entry for <what> goes when <event>
    Given the agent waits for <what>
    And client "A" sees it listed
    When <event>
    Then client "A" sees its entry go
    And a fresh snapshot of the session lists it no more
    And the session's status no longer carries InputNeeded

    Examples:
      | what                     | event                         |
      | an answer                | the client cancels the turn   |
      | an approval              | the client cancels the turn   |
      | the approval of a result | the client cancels the turn   |
      | a tool of client "A"     | the client cancels the turn   |
      | an answer                | the client truncates the chat |

  @AHP-INPUT-030 @must @needs-client-tool
  Scenario Outline: The host alone lists and removes <what>
    Given the agent waits for <what>
    And client "A" sees it listed
    When client "A" answers with <reply>
    Then client "A" sees its entry go
    And no entry was set or removed in the name of a client

    Examples:
      | what                 | reply       |
      | an approval          | an approval |
      | a tool of client "A" | a result    |
