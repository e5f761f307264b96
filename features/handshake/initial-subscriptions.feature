Feature: Channels named in the handshake are followed from the start
  A client that comes up wants to paint at once. The handshake brings it the state of what it names, and nothing else.

  Background:
    Given a session with one chat

  @AHP-INIT-010 @must
  Scenario: The welcome brings one snapshot for each channel named
    Given a client "N" that has said nothing yet
    When client "N" requests a handshake naming the root, the session and the chat
    Then there is one snapshot for each of them, and no other

  @AHP-INIT-011 @must
  Scenario: A channel named in the handshake is subscribed
    Given a client "B" that named the session in its handshake
    When client "A" changes the session
    Then client "B" receives the change

  @AHP-INIT-012 @must
  Scenario: A client that named nothing receives nothing
    Given a client "B" that watches nothing
    And client "A" watches the root
    When client "A" changes the session and the chat
    Then client "B" receives nothing at all
