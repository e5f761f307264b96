Feature: A disposed session is gone
  Nobody can follow it, nobody hears of it, and what its agent was doing ends with it.

  Background:
    Given a session with one chat

  @AHP-SESS-020 @must
  Scenario Outline: A disposed session cannot be subscribed to by <whom>
    Given a client "B" that watches nothing
    When client "A" requests the disposal of the session
    Then the request succeeds
    And client "<name>" cannot subscribe to the session

    Examples:
      | whom               | name |
      | who disposed of it | A    |
      | another client     | B    |

  @AHP-SESS-019 @should
  Scenario: Disposing of a session that does not exist is refused
    When client "A" requests the disposal of a session that does not exist
    Then the request is refused with the code -32001

  @AHP-SESS-019 @should
  Scenario: Disposing of a session twice is refused
    Given client "A" has disposed of the session
    When client "A" requests the disposal of the session
    Then the request is refused with the code -32001

  @AHP-SESS-043 @must
  Scenario: The subscriptions of others end with the session
    Given client "A" watches the root
    And a client "B" that watches the session and the chat
    And the session is listed
    And client "A" has disposed of the session
    When client "A" dispatches to the disposed session and its chat
    Then client "B" receives nothing of the session and the chat

  @AHP-SESS-022 @must @needs-turn
  Scenario: The work of a disposed session ends
    Given a client "B" that watches the session and the chat
    And client "A" watches the root
    And a turn that is held open has been started in the default chat
    And client "A" has disposed of the session
    When the agent is told to go on in the disposed session
    Then client "B" receives nothing of the session and the chat
