Feature: Three members make a handshake
  What a host demands beyond them locks out every client that was written by the protocol alone.

  @AHP-INIT-002 @must
  Scenario: What is selected was offered
    Given a client "N" that has said nothing yet
    When client "N" requests a handshake offering all that the suite speaks
    Then the selected version is one of the offered ones

  @AHP-INIT-030 @must
  Scenario: The required members are enough
    Given a client "M" that was welcomed with all members
    And a client "N" that has said nothing yet
    When client "N" requests a handshake with the required members alone
    Then the version of the run is selected
