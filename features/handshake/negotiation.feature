Feature: Host and client agree on one version
  Both sides judge every later message by the version agreed on here. A host that guesses, or that goes on without an
  agreement, talks past its client.

  Background:
    Given a client "A" that watches nothing
    And a client "N" that has said nothing yet

  @AHP-INIT-026 @AHP-INIT-002 @must
  Scenario Outline: Unknown versions do no harm beside <place>
    When client "N" requests a handshake offering its version <place>
    Then the version of the run is selected

    Examples:
      | place         |
      | first         |
      | in the middle |
      | last          |

  @AHP-INIT-002 @must
  Scenario: Another patch of the version is refused, or selected as it was offered
    When client "N" requests a handshake offering another patch of its version
    Then the selected version is one of the offered ones, unless the offer is refused

  @AHP-INIT-004 @must
  Scenario Outline: An offer of <what> is refused
    When client "N" requests a handshake offering <what>
    Then the request is refused with the code -32005

    Examples:
      | what                 |
      | an unknown version   |
      | two unknown versions |

  @AHP-INIT-005 @must
  Scenario: A refusal that lists versions lists exact ones or ranges
    When client "N" requests a handshake offering an unknown version
    Then the request is refused with the code -32005
    And the versions that the refusal lists are exact versions or ranges

  @AHP-INIT-006 @must
  Scenario: The connection ends with the refusal
    When client "N" requests a handshake offering an unknown version
    Then the host closes the connection after its refusal

  @AHP-INIT-027 @must
  Scenario: An empty offer is refused
    When client "N" requests a handshake offering nothing
    Then the request is refused with the code -32005 or -32602

  @AHP-INIT-029 @must
  Scenario: What a refusal lists is welcome
    Given the host lists the versions that it speaks
    When newcomers offer the lowest version of each entry
    Then each of them is welcomed

  @AHP-INIT-009 @must
  Scenario: A second handshake does not change the version
    When client "A" requests a handshake offering every version but its own
    Then the first version stays
