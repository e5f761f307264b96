Feature: Who subscribed is told, and nobody else
  Sessions hold what users said in confidence to one agent. Whoever follows a channel sees all of it, its own actions
  included; whoever does not, sees none of it.

  Background:
    Given a session with one chat

  @AHP-SUB-010 @must
  Scenario Outline: A change of <channel> reaches everybody on it
    Given a client "B" that watches the session and the chat
    When client "A" puts out a change of <channel>
    Then client "A" receives the change
    And client "B" receives the change

    Examples:
      | channel     |
      | the session |
      | the chat    |

  @AHP-SUB-009 @must
  Scenario: A client on the root sees no session and no chat
    Given a client "B" that watches the root
    When client "A" changes the session and the chat
    Then client "B" receives nothing of the session and the chat

  @AHP-SUB-009 @must
  Scenario: A client on the session sees no chat
    Given a client "B" that watches the session
    When client "A" changes the session and the chat
    Then client "B" receives nothing of the chat

  @AHP-SUB-027 @must
  Scenario: A chat can be followed without its session
    Given a client "B" that watches only the chat
    When client "A" changes the session and the chat
    Then client "B" receives the change of the chat
    And client "B" receives nothing of the session

  @AHP-SUB-007 @must
  Scenario: After unsubscribing nothing more comes
    Given a client "B" that watches the session and the chat
    And client "B" has unsubscribed from the session
    When client "A" changes the session
    Then client "B" receives nothing of the session

  @AHP-SUB-008 @must
  Scenario Outline: <what> does no harm
    Given a client "B" that watches the session
    When client "B" sends <what>
    Then it is not answered
    And client "B" still receives what client "A" changes

    Examples:
      | what                                                        |
      | an unsubscribe from a session that does not exist           |
      | an unsubscribe from a channel that it has not subscribed to |

  @AHP-SUB-021 @must
  Scenario: Changes of a summary are told on the root only
    Given the session is listed
    And client "A" watches the root
    And a client "B" that watches the session
    When client "A" changes the session
    Then client "A" is told of the change of the summary
    And client "B" receives nothing of the root
