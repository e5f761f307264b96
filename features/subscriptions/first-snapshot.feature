Feature: The answer to a subscription is the state
  There is no second message to wait for: a client that has its answer can paint.

  Background:
    Given a client "A" that watches nothing
    And a session that nobody follows

  @AHP-SUB-001 @AHP-SUB-002 @must
  Scenario Outline: A subscription to <channel> brings its snapshot
    When client "A" requests a subscription to <channel>
    Then the answer holds the snapshot of <channel>

    Examples:
      | channel     |
      | the root    |
      | the session |
