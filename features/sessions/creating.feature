Feature: A session comes into being at the URI that its client chose
  The client names the session before the host has it, so that it can follow it from the first moment on. A name that is
  taken must be refused, and a name whose creation failed must stay free.

  Background:
    Given a client "A" that watches nothing

  @AHP-SESS-001 @must
  Scenario: A URI that is in use is refused
    Given a session with one chat
    When client "A" requests a new session at the URI of the session
    Then the request is refused with the code -32003

  @AHP-SESS-001 @must
  Scenario: The session that is there stays as it is
    Given a session with one chat
    And client "A" has changed the session
    When client "A" requests a new session at the URI of the session
    Then the session keeps its title

  @AHP-SESS-001 @must
  Scenario: Of two clients that want one URI, one gets it
    Given a client "B" that watches nothing
    When clients "A" and "B" create a session at one URI at once
    Then one of them succeeds, and the other is refused with the code -32003

  @AHP-SESS-002 @must
  Scenario: An unknown provider is refused, and nothing is created
    When client "A" requests a new session of an unknown provider
    Then the request is refused with the code -32002
    And client "A" cannot subscribe to the new session

  @AHP-SESS-018 @must
  Scenario: A failed creation leaves the URI free
    Given client "A" was refused a new session of an unknown provider
    When client "A" requests a new session
    Then the request succeeds
    And client "A" can subscribe to the new session

  @AHP-SESS-003 @must
  Scenario: The session lives at the URI that the client chose
    When client "A" requests a new session
    Then the request succeeds
    And client "A" can subscribe to the new session

  @AHP-SESS-003 @must
  Scenario: The list names the session by that URI
    Given a session with one chat
    And client "A" has put a message to the agent
    When another client looks at the session
    Then the list names the session by the URI that the client chose

  @AHP-SESS-004 @must
  Scenario: A session can be followed in the same breath
    Given a session with one chat
    When client "A" creates a session and subscribes to it in the same breath
    Then both requests succeed
    And the answer holds the snapshot of the session

  @AHP-SESS-005 @must
  Scenario: The outcome of the creation is told once, if it is still open
    Given a session with one chat
    When client "A" puts a message to the agent
    Then the session is ready, and that was said as often as it had to be

  @AHP-SESS-016 @AHP-ACTC-012 @must
  Scenario: A client can create a session with itself as active client
    Given a session that client "A" created with a tool of its own
    When another client looks at the session
    Then a fresh snapshot has client "A" active once, as it last said
