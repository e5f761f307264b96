Feature: A client is welcomed whatever it leaves out or adds
  Clients of every age meet the same host. The three members that the protocol demands are enough, and what a newer
  client says beyond them must not lock it out.

  Background:
    Given a session with one chat
    And a client "N" that has said nothing yet

  @AHP-INIT-001 @must
  Scenario Outline: <hello> is answered, once
    When client "N" requests <hello>
    Then the request is answered exactly once

    Examples:
      | hello                                        |
      | a handshake with the required members alone  |
      | a handshake with all members                 |
      | a handshake offering two unknown versions    |
      | a handshake offering nothing                 |
      | a handshake with a number as offer           |

  @AHP-INIT-015 @must
  Scenario Outline: The host says no in words to <hello>
    When client "N" requests <hello>
    Then the request is refused

    Examples:
      | hello                              |
      | a handshake without params         |
      | a handshake with a number as offer |

  @AHP-INIT-003 @must
  Scenario Outline: The welcome to <hello> is complete
    When client "N" requests <hello>
    Then the result has the version, the sequence number and the snapshots

    Examples:
      | hello                                       |
      | a handshake with the required members alone |
      | a handshake with the root                   |

  @AHP-INIT-019 @AHP-RPC-014 @must
  Scenario Outline: <hello> is welcome
    When client "N" requests <hello>
    Then the version of the run is selected

    Examples:
      | hello                                               |
      | a handshake with an unknown member                  |
      | a handshake with an unknown capability              |
      | a handshake with an unknown option of a capability  |

  @AHP-INIT-028 @must
  Scenario Outline: A client id comes back unaltered: <identity>
    Given a client "B" with the id "<identity>" on the session
    When client "B" dispatches the action session/titleChanged
    Then client "A" gets it with the origin of client "B"

    Examples:
      | identity        |
      | with two spaces |
      | Zoë 日本 ÜBER    |
      | 200 characters  |

  @AHP-INIT-021 @must
  Scenario: The number in the welcome is the one the host has reached
    Given client "A" has changed the session
    When client "N" requests a handshake with the required members alone
    Then the number of the welcome is not behind the change, and later changes are ahead of it
