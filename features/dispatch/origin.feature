Feature: Every action comes back to its author once, in order
  A client shows its own action at once and takes it back when the echo says so. That works only if each echo can be
  told to belong to one dispatch.

  Background:
    Given a session with one chat

  @AHP-SEQ-005 @AHP-DISP-008 @must
  Scenario Outline: The echo names the dispatch: <numbers>
    When client "A" dispatches renames with the clientSeq <numbers>
    Then each dispatch is echoed exactly once

    Examples:
      | numbers     |
      | 1, 2        |
      | 10, 1000    |
      | 5, 6, 900   |

  @AHP-SEQ-006 @must
  Scenario: Others see the same origin
    Given a client "B" that watches the session
    When client "A" dispatches the action session/titleChanged
    Then client "B" gets it with the origin of client "A"

  @AHP-SEQ-007 @must
  Scenario Outline: <action> is echoed also when it changes nothing
    When client "A" twice dispatches the action <action>
    Then each dispatch is echoed exactly once

    Examples:
      | action                              |
      | session/isReadChanged to true       |
      | session/activeClientSet for itself  |

  @AHP-SEQ-008 @must
  Scenario: Echoes keep the order of the dispatches, rejected ones included
    When client "A" dispatches fifty actions, every fifth of them for a turn that is not there
    Then client "A" gets an echo of each, in the order in which it dispatched them

  @AHP-SEQ-014 @must
  Scenario: Actions of several clients have one order
    Given a client "B" that watches the session
    When clients "A" and "B" rename the session fifty times each at once
    Then clients "A" and "B" see the renames in one order
    And a fresh snapshot has the title of the last

  @AHP-ORIGIN-014 @must
  Scenario: An action counts although its author does not follow the channel
    Given a client "B" that watches only the session
    When client "B" dispatches the action chat/draftChanged
    Then client "A" gets it with the origin of client "B"
