Feature: The state of a session is complete from the start
  A client reads members without asking whether they are there. What the protocol requires is present from the first
  snapshot on, empty lists included.

  Background:
    Given a session with one chat

  @AHP-SESS-008 @must
  Scenario: A session has every required member
    When another client looks at the session
    Then a fresh snapshot has every member that a session must have

  @AHP-STAT-001 @must
  Scenario: A status is one activity value with flags
    When another client looks at the session
    Then a fresh snapshot of the session shows a legal status

  @AHP-SESS-010 @must
  Scenario: The provider is the one that was asked for
    When another client looks at the session
    Then the provider is that of the request in a fresh snapshot

  @AHP-SESS-010 @must
  Scenario: The list gives the provider that was asked for
    Given the session is listed
    When another client looks at the session
    Then the provider is that of the request in the list

  @AHP-SESS-023 @must
  Scenario: The times of a session are ISO 8601 texts
    Given the session is listed
    When another client looks at the session
    Then its times in the list are ISO 8601 texts

  @AHP-CHAT-001 @must
  Scenario: A chat is one flat object
    When another client looks at the chat
    Then the chat is one flat object with its required members

  @AHP-CHAT-004 @must @needs-turn
  Scenario: The catalogue comes to agree with the chat
    When a turn that fails runs in the default chat
    Then the entry of the chat comes to have the title and the status of the chat

  @AHP-CHAT-051 @must
  Scenario: Two sessions have no chat in common
    Given another session
    When another client looks at the session
    Then no chat is in both catalogues

  @AHP-SESS-046 @must
  Scenario: A session keeps its time of creation
    Given client "A" watches the root
    And the session is listed
    When client "A" puts a message to the agent
    Then its time of creation has always been the same
