Feature: To subscribe is to get the state and everything after it
  A client paints from the snapshot and folds what follows. A state of the wrong channel, an old one, or a gap behind it
  leaves the user with a picture that never comes right.

  Background:
    Given a session with one chat

  @AHP-SUB-001 @AHP-SUB-002 @must
  Scenario: A subscription to the chat brings its snapshot
    Given a client "B" that watches nothing
    When client "B" requests a subscription to the chat
    Then the answer holds the snapshot of the chat

  @AHP-SUB-022 @must
  Scenario: The root can be subscribed to again
    Given a client "B" that watches the root
    And client "B" has unsubscribed from the root
    When client "B" requests a subscription to the root
    Then the answer holds the snapshot of the root

  @AHP-SUB-014 @must
  Scenario: A repeated subscription brings a fresh snapshot
    Given client "A" has changed the session
    When client "A" requests a subscription to the session
    Then the answer holds the snapshot of the session
    And the snapshot holds the change, and its number is not behind

  @AHP-SUB-013 @must
  Scenario: Who subscribes three times is told once
    Given a client "B" that named the session in its handshake
    And client "B" watches the session again
    And client "B" watches the session again
    When client "A" changes the session
    Then client "B" receives the change exactly once

  @AHP-SUB-006 @must
  Scenario: There is no gap behind the snapshot
    Given a client "B" that watches nothing
    When client "B" subscribes to the session while client "A" keeps changing it
    Then client "B" comes to hold what a fresh snapshot holds

  @AHP-SUB-005 @must
  Scenario: Nothing that the snapshot contains is delivered again
    Given a client "B" that watches nothing
    When client "B" subscribes to the session while client "A" keeps changing it
    Then client "B" receives nothing that its snapshot contained

  @AHP-SUB-017 @must
  Scenario Outline: A view that does not fit <channel> is ignored
    Given a client "B" that watches nothing
    When client "B" requests a subscription to <channel> with a view that does not fit
    Then the answer holds the snapshot of <channel>

    Examples:
      | channel     |
      | the root    |
      | the session |
