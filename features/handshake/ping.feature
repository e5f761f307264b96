Feature: A ping is answered whoever asks
  By a ping a client learns that the connection still works. It needs that also when it follows nothing.

  Background:
    Given a session with one chat

  @AHP-PING-001 @must
  Scenario: A ping is answered with null
    When client "A" requests ping
    Then the request succeeds with null

  @AHP-PING-003 @must
  Scenario: A ping is answered for a client that follows nothing
    Given a client "B" that watches nothing
    When client "B" requests ping
    Then the request succeeds with null

  @AHP-PING-003 @must
  Scenario: A ping is answered for a client that follows nothing any more
    Given a client "B" that watches the session
    And client "B" has unsubscribed from the session
    When client "B" requests ping
    Then the request succeeds with null
