Feature: Before the handshake nothing counts but a ping
  Until both sides have agreed on a version, the host cannot know what a message means, nor whose it is.

  Background:
    Given a session with one chat
    And a client "N" that has said nothing yet

  @AHP-INIT-014 @must
  Scenario Outline: A request for <what> comes too early
    When client "N" requests <what>
    Then the request is refused

    Examples:
      | what                          |
      | a subscription to the session |
      | the list of sessions          |
      | a new session                 |

  @AHP-INIT-014 @must
  Scenario: A session that was asked for too early does not come into being
    When client "N" requests a new session
    Then the request is refused
    And client "A" cannot subscribe to the new session

  @AHP-INIT-014 @must
  Scenario: An action that comes too early does not count
    When client "N" dispatches the action session/titleChanged
    Then it takes no effect
    And nobody gets it as accepted

  @AHP-PING-002 @must
  Scenario: A ping is answered before the handshake, and the handshake follows
    When client "N" requests ping
    Then the request succeeds with null
    And client "N" can still shake hands
