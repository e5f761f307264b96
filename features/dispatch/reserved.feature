Feature: What only the host may say, no client can say for it
  A forged approval prompt, a forged answer or an emptied list of agents would be believed by everybody who watches.

  Background:
    Given a session with one chat
    And a client "B" that watches the session and the chat

  @AHP-ORIGIN-004 @must
  Scenario Outline: A client cannot forge <action>
    When client "A" dispatches the action <action>
    Then it takes no effect
    And nobody gets it as accepted

    Examples:
      | action                        |
      | session/activityChanged       |
      | session/serverToolsChanged    |
      | session/metaChanged           |
      | session/changesetsChanged     |
      | session/inputNeededSet        |
      | session/chatRemoved           |
      | session/customizationsChanged |

  @AHP-ORIGIN-003 @must
  Scenario Outline: A client cannot forge <action> of a chat
    When client "A" dispatches the action <action>
    Then it takes no effect
    And nobody gets it as accepted

    Examples:
      | action               |
      | chat/activityChanged |
      | chat/turnsLoaded     |

  @AHP-ORIGIN-017 @must
  Scenario Outline: A client cannot forge <action> of the host
    Given client "A" watches the root
    And client "B" watches the root
    When client "A" dispatches the action <action>
    Then it takes no effect
    And nobody gets it as accepted

    Examples:
      | action                |
      | root/agentsChanged    |
      | root/terminalsChanged |

  @AHP-DISP-003 @should
  Scenario Outline: Who dispatches <action> gets it back rejected
    Given client "A" watches the root
    When client "A" dispatches the action <action>
    Then the action comes back rejected

    Examples:
      | action                  |
      | root/agentsChanged      |
      | session/activityChanged |
      | chat/activityChanged    |
