Feature: An entry shows what it stands for
  Whoever answers from the session alone sees nothing else: the question or the call has to be there as the chat has
  it, with the chat in which it lives, and under an id that stays.

  Background:
    Given a session with one chat
    And client "A" provides a tool

  @AHP-INNEED-011 @must @needs-client-tool
  Scenario Outline: The entry for <what> names its chat
    When the agent comes to wait for <what>
    Then client "A" sees it listed
    And the entry names the chat in which the request lives

    Examples:
      | what                 |
      | an answer            |
      | an approval          |
      | a tool of client "A" |

  @AHP-INPUT-020 @must @needs-client-tool
  Scenario Outline: The entry shows <what> as the chat does
    When the agent comes to wait for <what>
    Then client "A" sees it listed
    And the entry shows it as the chat does

    Examples:
      | what                     |
      | an answer                |
      | an approval              |
      | the approval of a result |
      | a tool of client "A"     |

  @AHP-INPUT-017 @must @needs-client-tool
  Scenario: A call is not handed to its owner before it is approved
    Given the agent waits for an approval of a tool of client "A"
    When client "A" answers with an approval
    Then client "A" sees the approved call handed to it
    And no entry has handed out a call before it ran

  @AHP-INNEED-017 @should @needs-turn
  Scenario: What is open has one entry, however many look at it
    Given the agent waits for an answer
    And client "A" sees it listed
    When a client "B" joins that watches the session
    Then another client finds it listed once

  @AHP-INNEED-010 @must @needs-turn
  Scenario: An entry keeps its id while the answer is drafted
    Given the agent waits for an answer
    And client "A" sees it listed
    When client "A" drafts an answer by the entry
    Then it is still listed under its id

  @AHP-INNEED-010 @must @needs-client-tool
  Scenario Outline: The removal of the entry for <what> names its id
    Given the agent waits for <what>
    And client "A" sees it listed
    When client "A" answers with <reply>
    Then the removal names the id under which it was listed

    Examples:
      | what                 | reply    |
      | an answer            | decline  |
      | a tool of client "A" | a result |
