Feature: What does not exist cannot be followed
  A client that is told "yes" about a channel that is not there waits for ever, or shows a session that never was.

  Background:
    Given a session with one chat

  @AHP-SUB-011 @must
  Scenario: A session that does not exist cannot be subscribed to
    When client "A" requests a subscription to a session that does not exist
    Then the request is refused

  @AHP-SUB-025 @should
  Scenario: The code for it is that of a missing session
    When client "A" requests a subscription to a session that does not exist
    Then the request is refused with the code -32001

  @AHP-SUB-012 @must
  Scenario Outline: <channel> cannot be subscribed to
    When client "A" requests a subscription to <channel>
    Then the request is refused

    Examples:
      | channel                        |
      | a chat that does not exist     |
      | a terminal that does not exist |
      | a channel of an unknown scheme |

  @AHP-SUB-028 @must
  Scenario: A refused subscription leaves nothing behind
    Given a client "B" that watches nothing
    And client "B" was refused a subscription to a session that is yet to come
    When client "A" creates that session and renames it
    Then client "B" receives nothing of the session
