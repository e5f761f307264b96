Feature: Read and archived are flags of their own
  The user sorts sessions by these flags. They share one number with the activity of the session, so setting one is an
  easy way to lose another.

  Background:
    Given a session with one chat

  @AHP-SESS-031 @must
  Scenario Outline: The read flag of an archived session is <verb>
    Given the session is marked archived
    And the session is marked <before>
    When client "A" <verb> the flag read
    Then a fresh snapshot shows it <after>, and otherwise as before

    Examples:
      | before   | verb   | after                  |
      | archived | sets   | archived and read      |
      | read     | clears | archived and not read  |

  @AHP-SESS-032 @must
  Scenario Outline: The archived flag of a read session is <verb>
    Given the session is marked read
    And the session is marked <before>
    When client "A" <verb> the flag archived
    Then a fresh snapshot shows it <after>, and otherwise as before

    Examples:
      | before   | verb   | after                  |
      | read     | sets   | archived and read      |
      | archived | clears | not archived and read  |

  @AHP-SESS-031 @AHP-SESS-032 @must
  Scenario Outline: The list shows it when the flag <flag> of a read and archived session is cleared
    Given the session is listed
    And the session is marked read
    And the session is marked archived
    When client "A" clears the flag <flag>
    Then the list shows it <after>, and otherwise as before

    Examples:
      | flag     | after                  |
      | read     | archived and not read  |
      | archived | not archived and read  |

  @AHP-STAT-011 @must
  Scenario: The archived flag passes through a turn
    Given client "A" watches the root
    And the session is marked archived
    When client "A" puts a message to the agent
    Then every status of the session still says that it is archived

  @AHP-STAT-004 @should @needs-turn
  Scenario: A new turn clears the read flag
    Given client "A" watches the root
    And the session is marked read
    When a turn that is held open runs in the default chat
    Then the session comes to be listed as not read
