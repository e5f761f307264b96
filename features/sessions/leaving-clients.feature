Feature: The host takes clients off the list that have left
  A client that went away cannot run its tools. As long as the list still names it, the agent calls into the void.

  Background:
    Given a session with one chat
    And a client "B" that watches the session and the chat
    And client "B" is active with the tool "lookup"

  @AHP-ACTC-004 @should
  Scenario: A client that unsubscribes is taken off
    When client "B" unsubscribes from the session
    Then client "A" sees client "B" taken off

  @AHP-ACTC-011 @must
  Scenario: Others stay when one leaves
    Given client "A" is active with the tool "other"
    And client "B" has unsubscribed from the session
    And client "A" has seen client "B" taken off
    When another client looks at the session
    Then a fresh snapshot has client "A" active once, as it last said

  @AHP-ACTC-005 @should @needs-disconnect
  Scenario: A client that does not come back is taken off
    When client "B" loses its connection
    Then client "A" sees client "B" taken off once the grace period is over

  @AHP-ACTC-006 @should @needs-disconnect
  Scenario: A client that comes back in time stays active
    Given client "B" has lost its connection
    When client "B" comes back with all its subscriptions
    Then a fresh snapshot has client "B" active once, as it last said
    And client "A" has not seen client "B" taken off

  @AHP-ACTC-007 @should @needs-disconnect
  Scenario: A client that comes back without the session is taken off
    Given client "B" has lost its connection
    When client "B" comes back without the session
    Then client "A" sees client "B" taken off

  @AHP-ACTC-008 @should @needs-client-tool
  Scenario: The call of a client that takes itself off ends
    Given client "B" provides a tool
    And the agent waits for a tool of client "B"
    When client "B" takes itself off the active clients
    Then the call comes to be completed as failed
