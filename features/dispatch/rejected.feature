Feature: What the host rejects goes back to its author and leaves no trace
  The author has to take its action back; nobody else may ever believe in it.

  Background:
    Given a session with one chat
    And a client "B" that watches the session and the chat

  @AHP-SEQ-011 @must
  Scenario: A cancellation without a turn comes back rejected
    When client "A" dispatches the action chat/turnCancelled without a turn
    Then the action comes back rejected
    And each dispatch is echoed exactly once

  @AHP-SEQ-010 @must
  Scenario: A rejected action leaves no trace
    Given client "A" has had the action chat/turnCancelled without a turn rejected
    When another client looks at the chat
    Then the chat is as it was before

  @AHP-SEQ-018 @must
  Scenario: Nobody takes a rejected action for an accepted one
    Given client "A" has had the action chat/turnCancelled without a turn rejected
    When client "A" changes the chat
    Then nobody gets it as accepted

  @AHP-DISP-001 @must
  Scenario Outline: <action> is not accepted
    When client "A" dispatches the action <action>
    Then it takes no effect
    And nobody gets it as accepted

    Examples:
      | action                                        |
      | session/titleChanged without a title          |
      | session/titleChanged with a number as title   |
      | session/isReadChanged with a text as flag     |

  @AHP-DISP-002 @must
  Scenario Outline: <action> is ignored
    When client "A" dispatches the action <action>
    Then the host stays silent about it

    Examples:
      | action                                                   |
      | session/titleChanged for a session that does not exist   |
      | chat/draftChanged for a chat that does not exist         |

  @AHP-DISP-004 @must
  Scenario Outline: The unknown action <action> is not relayed
    When client "A" dispatches the action <action>
    Then it takes no effect
    And nobody gets it as accepted

    Examples:
      | action                     |
      | session/conformanceUnknown |
      | chat/conformanceUnknown    |

  @AHP-DISP-005 @must
  Scenario Outline: <action> takes no effect
    When client "A" dispatches the action <action>
    Then it takes no effect

    Examples:
      | action                            |
      | session/titleChanged on the chat  |
      | chat/draftChanged on the session  |
      | root/configChanged on the session |

  @AHP-DISP-006 @must
  Scenario: A default chat that the session does not have is rejected
    When client "A" dispatches the action session/defaultChatChanged to an unknown chat
    Then the action comes back rejected
    And it takes no effect
